module Shop.Store where
import Data.List (sort)

-- | A store.
data Store a = Empty | Full { items :: [a] }
newtype Name = Name String
type Alias = String
class Saving a where
  save :: a -> IO ()
instance Saving Name where
  save n = helper n
-- | Finds.
find :: Int -> Store a -> a
find 0 s = helper s
find n s = sort (run s)
limit = 3
